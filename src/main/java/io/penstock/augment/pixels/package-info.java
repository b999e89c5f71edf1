// SPDX-License-Identifier: Apache-2.0
/** Images that a worker changes in place, and the operations on their pixels. */
@NullMarked
package io.penstock.augment.pixels;

import org.jspecify.annotations.NullMarked;
