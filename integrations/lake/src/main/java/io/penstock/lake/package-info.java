// SPDX-License-Identifier: Apache-2.0
/**
 * Tables of data lakes as stores and streams: what the modules for Delta and Iceberg share. A module says which files
 * a version of a table has; this package reads their rows.
 */
@NullMarked
package io.penstock.lake;

import org.jspecify.annotations.NullMarked;
