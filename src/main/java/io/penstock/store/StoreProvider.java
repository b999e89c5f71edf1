package io.penstock.store;

import io.penstock.io.Location;
import java.io.IOException;
import java.util.ServiceLoader;

/**
 * A format of stores, found by {@link ServiceLoader}: Penstock's own formats are providers, and so are those of other
 * jars. {@link StoreFormats} says where providers are looked for.
 *
 * <p>Stores are recognized by content first: all providers are asked {@link #matchesContent}, one after the other,
 * until one says yes. Only if none does, all are asked {@link #matchesName}. They are asked by ascending
 * {@link #order}, and by {@link #name} where orders are equal.
 *
 * <p>A provider has a public constructor without parameters and no state: it may be made for each call, and be called
 * by any thread.
 */
public interface StoreProvider {

    /**
     * What the format is called in {@link OpenOptions#format}, {@link StoreInfo#kind} and on the command line. No two
     * providers have the same name.
     *
     * @return a name in lower case, for example {@code megatron}
     */
    String name();

    /**
     * When the provider is asked: lower ones first. Penstock's own have the orders 100, 200 and so on.
     *
     * @return the order; 0 is before Penstock's own, and {@link Integer#MAX_VALUE} behind them
     */
    default int order() {
        return 0;
    }

    /**
     * Whether stores of this format are {@link TokenStore}s.
     *
     * @return true if all of them are, false if none is
     */
    default boolean isTokens() {
        return false;
    }

    /**
     * Whether the first bytes say that it is this format.
     *
     * @param candidate what may be a store
     * @return true if so: then it is opened in this format, and if it is malformed, no other format is tried
     * @throws IOException if a file cannot be read
     */
    default boolean matchesContent(Candidate candidate) throws IOException {
        return false;
    }

    /**
     * Whether the name, or the files beside it or in the folder, say that it is this format. Asked only if the content
     * says nothing to any provider.
     *
     * @param candidate what may be a store
     * @return true if so: then it is opened in this format, and if it is malformed, no other format is tried
     * @throws IOException if a file or folder cannot be read
     */
    default boolean matchesName(Candidate candidate) throws IOException {
        return false;
    }

    /**
     * Opens a store of this format, and checks that it is whole.
     *
     * @param path a file or a folder of the store
     * @param options what is known of the store that its files do not say
     * @return the store, to be closed by the caller: a {@link TokenStore} exactly if {@link #isTokens}
     * @throws IOException if there is no such file, it cannot be read, or is not as the format says
     * @throws IllegalArgumentException if the format cannot take what was told
     */
    Store open(Location path, OpenOptions options) throws IOException;
}
