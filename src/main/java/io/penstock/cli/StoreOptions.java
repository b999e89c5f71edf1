package io.penstock.cli;

import io.penstock.codec.DecodeLimit;
import io.penstock.io.Location;
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

/** How to open a store, where detection is not enough. */
final class StoreOptions {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--format", paramLabel = "NAME",
            description = "Store format, such as megatron, npy, webdataset or raw; default: detect.")
    private String format;

    @Option(names = "--dtype", paramLabel = "DTYPE",
            description = "Element dtype, for a --format that does not store it.")
    private String dtype;

    @Option(names = "--shape", paramLabel = "N", split = ",",
            description = "Shape of raw data; a first dimension of -1 is computed from the file's size.")
    private List<Long> shape;

    @Option(names = "--member", paramLabel = "NAME",
            description = "Part to open of a store that has several, such as a database or a group.")
    private String member;

    @Mixin
    private DecodeOptions decode;

    /** The name of the format that was given or is detected. */
    String format(Path path) throws IOException {
        return format == null ? StoreFormats.recognize(Location.of(path)).name() : format;
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

    /** The options given for the store; the format only if it was named. */
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
