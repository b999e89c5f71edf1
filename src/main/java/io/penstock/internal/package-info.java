// SPDX-License-Identifier: Apache-2.0
/** What the engine's packages share and its API does not show. Not exported. */
@NullMarked
package io.penstock.internal;

import org.jspecify.annotations.NullMarked;
