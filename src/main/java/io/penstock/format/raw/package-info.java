// SPDX-License-Identifier: Apache-2.0
/** Rows of numbers without a header; dtype and shape are given. */
@NullMarked
package io.penstock.format.raw;

import org.jspecify.annotations.NullMarked;
