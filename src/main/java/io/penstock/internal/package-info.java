// SPDX-License-Identifier: Apache-2.0
/** Code that the engine's packages share. Not exported. */
@NullMarked
package io.penstock.internal;

import org.jspecify.annotations.NullMarked;
