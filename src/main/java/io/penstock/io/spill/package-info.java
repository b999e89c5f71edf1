// SPDX-License-Identifier: Apache-2.0
/** Disk space and memory for data that is decoded once and read many times. */
@NullMarked
package io.penstock.io.spill;

import org.jspecify.annotations.NullMarked;
