// SPDX-License-Identifier: Apache-2.0
/**
 * Megatron-LM's indexed dataset, read and written: {@code X.bin} holds tokens, {@code X.idx} says where sequences and
 * documents are (layout: {@code megatron/core/datasets/indexed_dataset.py}).
 */
@NullMarked
package io.penstock.format.megatron;

import org.jspecify.annotations.NullMarked;
