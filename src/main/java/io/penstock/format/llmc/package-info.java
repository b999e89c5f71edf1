/** llm.c's data files, both versions ({@code dev/data/data_common.py}, {@code llmc/dataloader.h}). */
package io.penstock.format.llmc;
