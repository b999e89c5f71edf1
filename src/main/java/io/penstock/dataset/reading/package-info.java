// SPDX-License-Identifier: Apache-2.0
/**
 * Reads samples for workers: a reader for each kind of {@link io.penstock.dataset.source.FieldSource}, and read-ahead.
 * Not exported.
 */
@NullMarked
package io.penstock.dataset.reading;

import org.jspecify.annotations.NullMarked;
