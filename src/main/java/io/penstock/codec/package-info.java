// SPDX-License-Identifier: Apache-2.0
/** Limits on what compressed files may decode to, and the errors of decoders. */
@NullMarked
package io.penstock.codec;

import org.jspecify.annotations.NullMarked;
