// SPDX-License-Identifier: Apache-2.0
/** What the steps of a pipeline are set to, what they draw, and what moves with an image: values that a user names. */
@NullMarked
package io.penstock.augment.value;

import org.jspecify.annotations.NullMarked;
