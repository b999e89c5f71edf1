// SPDX-License-Identifier: Apache-2.0
/**
 * The JMH suite: a part of the engine a class, beside what the machine could do in its place. {@code bench/README.md}
 * says how to run it and how to read it.
 *
 * <p>Where the engine and the C loops of {@code bench/native} do the same, each trial begins by comparing what they
 * wrote, byte for byte: a comparison of different work would be no comparison.
 */
package io.penstock.bench.jmh;
