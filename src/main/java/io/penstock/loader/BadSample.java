// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

/**
 * A sample that could not be read and was not given.
 *
 * @param sample its index in the dataset
 * @param reason what is wrong with it: one line that names the file or the sample
 */
public record BadSample(long sample, String reason) {
}
