// SPDX-License-Identifier: Apache-2.0
/**
 * HTML and SVG: elements as text, and the axes of charts.
 *
 * <p>Not exported: what is drawn may change in any release.
 */
@NullMarked
package io.penstock.diagnose.markup;

import org.jspecify.annotations.NullMarked;
