// SPDX-License-Identifier: Apache-2.0
/**
 * Reads samples for workers: a reader for each kind of {@link io.penstock.dataset.source.FieldSource}, read-ahead, and
 * the verification of what is read. Not exported.
 */
@NullMarked
package io.penstock.dataset.reading;

import org.jspecify.annotations.NullMarked;
