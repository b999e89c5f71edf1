// SPDX-License-Identifier: Apache-2.0
/**
 * Data without an index: {@link io.penstock.stream.StreamSource sources} that are read in order from a cursor, and
 * {@link io.penstock.stream.StreamDataset}, which makes a dataset of them. It shuffles by windows, and a loader's state
 * has the cursors, so that a run continues exactly. {@code docs/spec/streams.md} fixes the order and the state for
 * ports.
 */
@NullMarked
package io.penstock.stream;

import org.jspecify.annotations.NullMarked;
