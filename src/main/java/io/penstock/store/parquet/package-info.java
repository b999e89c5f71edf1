/**
 * Parquet files: their footer, their pages, and the columns of theirs that are numbers, lists of numbers, bytes and text.
 */
package io.penstock.store.parquet;
