// SPDX-License-Identifier: Apache-2.0
/** Pipelines as text: every step's short name and parameters, and how these are written. */
@NullMarked
package io.penstock.augment.text;

import org.jspecify.annotations.NullMarked;
