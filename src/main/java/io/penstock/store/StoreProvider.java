// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.io.Location;
import java.io.IOException;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * A store format, found by {@link ServiceLoader} in Penstock and in other jars. {@link StoreFormats} tells where.
 *
 * <p>Detection calls {@link #matchesContent} on the providers until one returns true. Only if none does, it calls
 * {@link #matchesName}. {@link StoreFormats} has the order in which providers are called.
 *
 * <p>A provider has a public no-argument constructor and no state: each call may create one, and any thread may call
 * it.
 */
public interface StoreProvider {

    /**
     * {@return the format's unique name in lower case, for {@link OpenOptions#format}, {@link StoreInfo#kind} and the
     * command line, for example {@code megatron}}
     */
    String name();

    /**
     * {@return whether this format is tried only after all others} A format of another jar is otherwise tried before
     * Penstock's own; {@link StoreFormats} has their order. By default false.
     */
    default boolean isFallback() {
        return false;
    }

    /** {@return whether stores of this format are {@link TokenStore}s: all or none} */
    default boolean isTokens() {
        return false;
    }

    /**
     * {@return whether stores of this format have parts that {@link OpenOptions#member} names} For other formats it is
     * refused. By default false.
     */
    default boolean hasMembers() {
        return false;
    }

    /**
     * Tells whether the first bytes identify this format.
     *
     * @param candidate the possible store
     * @return true to open it in this format; if it then proves malformed, no other format is tried
     * @throws IOException if a file cannot be read
     */
    default boolean matchesContent(Candidate candidate) throws IOException {
        return false;
    }

    /**
     * Tells whether the name, or the files next to it or in the folder, identify this format. Called only if no
     * provider matches the content.
     *
     * @param candidate the possible store
     * @return true to open it in this format; if it then proves malformed, no other format is tried
     * @throws IOException if a file or folder cannot be read
     */
    default boolean matchesName(Candidate candidate) throws IOException {
        return false;
    }

    /**
     * {@return what writes stores of this format, for conversions to it; empty if Penstock only reads them, the
     * default}
     */
    default Optional<StoreWriter> writer() {
        return Optional.empty();
    }

    /**
     * Opens and validates a store of this format.
     *
     * @param path a file or a folder of the store
     * @param options what the files do not declare
     * @return the store, to be closed by the caller; a {@link TokenStore} if and only if {@link #isTokens}
     * @throws IOException if the file is missing, cannot be read, or violates the format
     * @throws IllegalArgumentException if the format does not accept the options
     */
    Store open(Location path, OpenOptions options) throws IOException;
}
