// SPDX-License-Identifier: Apache-2.0
/** What many packages share: closing, the log of leaked resources, scratch memory, prefix sums. Not exported. */
@NullMarked
package io.penstock.internal;

import org.jspecify.annotations.NullMarked;
