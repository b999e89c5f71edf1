// SPDX-License-Identifier: Apache-2.0
/**
 * HTML and SVG: elements as text, and the axes of charts.
 *
 * <p>Not exported: pictures are for people, and may change.
 */
@NullMarked
package io.penstock.markup;

import org.jspecify.annotations.NullMarked;
