// SPDX-License-Identifier: Apache-2.0
/** Kafka topics as sources of {@link io.penstock.stream.StreamDataset}. */
@NullMarked
package io.penstock.kafka;

import org.jspecify.annotations.NullMarked;
