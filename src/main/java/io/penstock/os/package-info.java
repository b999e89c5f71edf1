// SPDX-License-Identifier: Apache-2.0
/** System calls that the JDK does not offer. */
@NullMarked
package io.penstock.os;

import org.jspecify.annotations.NullMarked;
