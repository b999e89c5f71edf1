// SPDX-License-Identifier: Apache-2.0
/** Native memory: dtypes, tensors and slabs. This package depends on the JDK alone. */
@NullMarked
package io.penstock.memory;

import org.jspecify.annotations.NullMarked;
