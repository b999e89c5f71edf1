// SPDX-License-Identifier: Apache-2.0
/**
 * Files of bare numbers, tokens above all: nanoGPT's {@code .bin} files ({@code data/.../prepare.py}), both versions of
 * llm.c's ({@code dev/data/data_common.py}, {@code llmc/dataloader.h}), datatrove's tokenized files
 * ({@code datatrove/pipeline/tokens/tokenizer.py}), and raw rows whose dtype and shape are given.
 */
@NullMarked
package io.penstock.format.tokens;

import org.jspecify.annotations.NullMarked;
