// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

/**
 * A sample that could not be read and was left out.
 *
 * @param sample its index in the dataset
 * @param reason the fault in one line that names the file or the sample
 */
public record BadSample(long sample, String reason) {
}
