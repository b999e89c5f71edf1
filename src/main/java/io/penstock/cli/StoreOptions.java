package io.penstock.cli;

import io.penstock.codec.DecodeLimit;
import io.penstock.memory.DType;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreFormats;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How to open a store, where it is not to be recognised by looking. */
final class StoreOptions {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--format", paramLabel = "NAME",
            description = "Take the store for megatron, npy, webdataset, raw, …; default: look.")
    private String format;

    @Option(names = "--dtype", paramLabel = "DTYPE",
            description = "The elements' dtype, for a --format that does not say it.")
    private String dtype;

    @Option(names = "--shape", paramLabel = "N,…", split = ",",
            description = "The shape of raw data; a first dimension of -1 is as many rows as there are.")
    private List<Long> shape;

    @Option(names = "--member", paramLabel = "NAME",
            description = "The part that is wanted of a store that has several: a database, a group.")
    private String member;

    @Mixin
    private DecodeOptions decode;

    /** The name of the format that was told or is recognised. */
    String format(Path path) throws IOException {
        return format == null ? StoreFormats.recognize(path).name() : format;
    }

    /** Opens a store; the caller closes it. */
    Store open(Path path) throws IOException {
        checkCombination();
        try {
            return Store.open(path, unchecked());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    /** What was told of the store; the format only if it was. */
    OpenOptions options() {
        checkCombination();
        try {
            if (format != null) {
                StoreFormats.named(format);
            }
            return unchecked();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private void checkCombination() {
        if (format == null && dtype != null) {
            throw new ParameterException(spec.commandLine(), "--dtype needs --format");
        }
    }

    private OpenOptions unchecked() {
        return new OpenOptions(format, dtype == null ? null : DType.of(dtype), shape, member,
                decode.limit(DecodeLimit.DEFAULT));
    }
}
