// SPDX-License-Identifier: Apache-2.0
/**
 * Tables of text: CSV, TSV and JSON lines. An index beside each file says where blocks of rows begin, what the types of
 * the columns are and what categories they have, so that rows are random access.
 */
@NullMarked
package io.penstock.format.csv;

import org.jspecify.annotations.NullMarked;
