// SPDX-License-Identifier: Apache-2.0
/** Database tables as sources of {@link io.penstock.stream.StreamDataset}. */
@NullMarked
package io.penstock.jdbc;

import org.jspecify.annotations.NullMarked;
