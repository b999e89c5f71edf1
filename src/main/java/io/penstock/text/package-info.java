// SPDX-License-Identifier: Apache-2.0
/**
 * Quantities as people read and write them: numbers and shares, bytes, times.
 *
 * <p>Not exported: what is written here is for people, and may change.
 */
@NullMarked
package io.penstock.text;

import org.jspecify.annotations.NullMarked;
