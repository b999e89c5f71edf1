// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Writes stores of one format, as its {@link StoreProvider} gives it. A conversion chooses by the subtype what it
 * writes: documents of tokens, tensors, or samples of named files.
 *
 * <p>A writer has no state; any thread may use it. What it writes appears complete or not at all.
 */
public sealed interface StoreWriter {

    /** {@return the endings, in lower case, of the files that it writes: a path with one implies the format} */
    List<String> endings();

    /** Writes documents of integer tokens. */
    non-sealed interface OfDocuments extends StoreWriter {

        /**
         * {@return the dtype in which the format stores tokens if the caller names none} By default the same.
         *
         * @param source the dtype of the tokens to write
         */
        default DType dtypeFor(DType source) {
            return source;
        }

        /**
         * Begins a store.
         *
         * @param target the path, with or without an ending
         * @param dtype the tokens' dtype
         * @param ifExists whether to replace an existing store
         * @return receives the documents, to be closed by the caller
         * @throws IllegalArgumentException if the format does not store this dtype
         * @throws FileAlreadyExistsException if the store exists and is not to be replaced
         * @throws IOException if the folder cannot be written, or another writer is active
         */
        DocumentSink create(Path target, DType dtype, IfExists ifExists) throws IOException;
    }

    /** Receives documents, one after another, from one thread. Closing it without {@link #commit} leaves nothing. */
    interface DocumentSink extends AutoCloseable {

        /**
         * Says what the numbers are; by default ids.
         *
         * @param content the content
         * @throws IllegalArgumentException if the format, or the store's dtype, does not hold it
         */
        default void content(TokenContent content) {
            if (content != TokenContent.TOKENS) {
                throw new IllegalArgumentException("found " + content.fieldName() + ", expected tokens: the format has"
                        + " no others");
            }
        }

        /**
         * Appends tokens to the open document.
         *
         * @param tokens memory that holds tokens of the store's dtype, little-endian; not retained
         * @throws IOException if they cannot be written
         */
        void append(MemorySegment tokens) throws IOException;

        /**
         * Appends tokens to the open document, narrowed to the store's dtype.
         *
         * @param tokens the values, each in the range of the dtype; not retained
         * @param count how many of them, from the first
         * @throws IOException if they cannot be written
         */
        void append(long[] tokens, int count) throws IOException;

        /**
         * Ends the open document, which may be empty.
         *
         * @throws IOException if it cannot be written
         */
        void endDocument() throws IOException;

        /**
         * Publishes the store.
         *
         * @param checksums receives the bytes read back to checksum them, if the format has checksums
         * @return the files of the store
         * @throws IOException if it cannot be published; then nothing is
         */
        List<Path> commit(Progress checksums) throws IOException;

        @Override
        void close() throws IOException;
    }

    /** Writes tensors: one without a name, or several with names and metadata. */
    non-sealed interface OfTensors extends StoreWriter {

        /** {@return whether a store holds any number of named tensors and metadata; otherwise one tensor alone} */
        boolean isNamed();

        /**
         * {@return whether the format has a dtype; tensors of another one are stored as untyped bytes}
         *
         * @param dtype the dtype
         */
        default boolean has(DType dtype) {
            return true;
        }

        /**
         * Writes a store.
         *
         * @param target the file
         * @param tensors its content; exactly one if they are not {@linkplain #isNamed named}
         * @param metadata texts by name; empty if tensors are not named
         * @param ifExists whether to replace an existing store
         * @return the files of the store
         * @throws IllegalArgumentException if the format cannot hold a tensor, as {@link TensorSpec} describes it
         * @throws FileAlreadyExistsException if the store exists and is not to be replaced
         * @throws IOException if a tensor cannot be read or the file not be written
         */
        List<Path> write(Path target, List<StreamedTensor> tensors, Map<String, String> metadata, IfExists ifExists)
                throws IOException;
    }

    /** Writes samples of named files, in one file or in several numbered ones, the shards. */
    non-sealed interface OfSamples extends StoreWriter {

        /**
         * {@return whether a target's name has a place for a number, so that there may be several shards}
         *
         * @param target the path
         */
        boolean isNumbered(Path target);

        /**
         * Begins a store.
         *
         * @param target the path, with a place for the shard's number if there may be several
         * @param maxSamples the most samples of a shard
         * @param maxBytes a shard of at least this size gets no further sample
         * @param ifExists whether to replace an existing store
         * @return receives the samples, to be closed by the caller
         * @throws FileAlreadyExistsException if the store exists and is not to be replaced
         * @throws IOException if the folder cannot be written, or another writer is active
         */
        SampleSink create(Path target, long maxSamples, long maxBytes, IfExists ifExists) throws IOException;
    }

    /** Receives samples, one after another, from one thread. Closing it without {@link #commit} leaves nothing. */
    interface SampleSink extends AutoCloseable {

        /**
         * Writes a sample.
         *
         * @param key its key, unlike the one before
         * @param files its files by suffix; not retained
         * @throws IllegalArgumentException if the format does not accept the key or a suffix
         * @throws IOException if it cannot be written
         */
        void write(String key, Map<String, MemorySegment> files) throws IOException;

        /**
         * Publishes the store.
         *
         * @return its shards, and no index or record beside them
         * @throws FileAlreadyExistsException if the store appeared meanwhile and is not to be replaced
         * @throws IOException if it cannot be published; then nothing is
         */
        List<Path> commit() throws IOException;

        @Override
        void close() throws IOException;
    }
}
