// SPDX-License-Identifier: Apache-2.0
/** Iceberg tables as stores and streams. */
@NullMarked
package io.penstock.iceberg;

import org.jspecify.annotations.NullMarked;
