// SPDX-License-Identifier: Apache-2.0
/**
 * What can go wrong, apart from I/O: the root {@link io.penstock.error.PenstockException}, and the exceptions that
 * several packages throw. Those of one package stand in it.
 */
@NullMarked
package io.penstock.error;

import org.jspecify.annotations.NullMarked;
