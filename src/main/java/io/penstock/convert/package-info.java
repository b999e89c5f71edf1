/**
 * Makes a store of one format out of one of another: {@link io.penstock.convert.Conversion} reads whatever is open as a
 * {@link io.penstock.store.Store}, and writes what {@link io.penstock.convert.TargetFormat} lists. Nothing is held in
 * memory but the piece at hand, and what is written appears whole, or not at all.
 */
package io.penstock.convert;
