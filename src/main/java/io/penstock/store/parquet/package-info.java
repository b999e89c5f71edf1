/**
 * Parquet files: their footer, their pages, and those of their columns that are numbers, lists of numbers, bytes and
 * text.
 */
package io.penstock.store.parquet;
