// SPDX-License-Identifier: Apache-2.0
/** LMDB environments, read over their mapping without the library: a file that is cut or forged is refused. */
@NullMarked
package io.penstock.format.lmdb;

import org.jspecify.annotations.NullMarked;
