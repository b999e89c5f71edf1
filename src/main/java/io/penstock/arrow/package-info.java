// SPDX-License-Identifier: Apache-2.0
/**
 * Exports tensors as the columns of an Arrow table in the C data interface: two C structs that describe memory, and a
 * callback when it is no longer needed. DuckDB, Arrow's own libraries, pyarrow, Polars and others import it without a
 * copy.
 *
 * <p>Source: <a href="https://arrow.apache.org/docs/format/CDataInterface.html">The Arrow C data interface</a>.
 */
@NullMarked
package io.penstock.arrow;

import org.jspecify.annotations.NullMarked;
