// SPDX-License-Identifier: Apache-2.0
/**
 * Text: quantities as people read and write them (numbers and shares, bytes, times), brace patterns, UTF-8,
 * names that are nearly the same.
 *
 * <p>Not exported: the texts may change in any release.
 */
@NullMarked
package io.penstock.text;

import org.jspecify.annotations.NullMarked;
