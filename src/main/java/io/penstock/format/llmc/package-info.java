// SPDX-License-Identifier: Apache-2.0
/** llm.c's data files, both versions ({@code dev/data/data_common.py}, {@code llmc/dataloader.h}). */
@NullMarked
package io.penstock.format.llmc;

import org.jspecify.annotations.NullMarked;
