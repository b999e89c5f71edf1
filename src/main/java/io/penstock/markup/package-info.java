/**
 * HTML and SVG: elements as text, and the axes of charts.
 *
 * <p>Not exported: pictures are for people, and may change.
 */
package io.penstock.markup;
