// SPDX-License-Identifier: Apache-2.0
/**
 * Parquet files. Columns of numbers, lists of numbers, bytes and text are read as they are, other nested columns as
 * JSON.
 */
@NullMarked
package io.penstock.format.parquet;

import org.jspecify.annotations.NullMarked;
