// SPDX-License-Identifier: Apache-2.0
/**
 * Where the fields of samples come from: {@link io.penstock.dataset.source.FieldSource}, the user code that computes
 * values, and {@link io.penstock.dataset.source.BatchReader}, by which collators read them.
 */
@NullMarked
package io.penstock.dataset.source;

import org.jspecify.annotations.NullMarked;
