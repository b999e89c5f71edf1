// SPDX-License-Identifier: Apache-2.0
/** Delta tables as stores and streams. */
@NullMarked
package io.penstock.delta;

import org.jspecify.annotations.NullMarked;
