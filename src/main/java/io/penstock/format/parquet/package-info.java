// SPDX-License-Identifier: Apache-2.0
/**
 * Parquet files: their footer, their pages, and their columns: numbers, lists of numbers, bytes, text, and what is
 * nested otherwise as JSON.
 */
@NullMarked
package io.penstock.format.parquet;

import org.jspecify.annotations.NullMarked;
