// SPDX-License-Identifier: Apache-2.0
/** LMDB environments, read over their mapping without the library. Truncated and corrupt files are refused. */
@NullMarked
package io.penstock.format.lmdb;

import org.jspecify.annotations.NullMarked;
