package io.penstock.cli;

import io.penstock.memory.DType;
import io.penstock.store.TokenFormat;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How to open a token store, where it is not to be recognised by looking. */
final class StoreOptions {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--format", paramLabel = "NAME",
            description = "Take the store for megatron, nanogpt, llmc or datatrove; default: look.")
    private String format;

    @Option(names = "--dtype", paramLabel = "DTYPE",
            description = "The tokens' dtype, for a --format that does not say it.")
    private String dtype;

    boolean isGiven() {
        return format != null || dtype != null;
    }

    /** Opens a token store; the caller closes it. */
    TokenStore open(Path path) throws IOException {
        if (format == null) {
            if (dtype != null) {
                throw new ParameterException(spec.commandLine(), "--dtype needs --format");
            }
            return TokenStore.open(path);
        }
        try {
            TokenFormat tokenFormat = TokenFormat.of(format);
            return dtype == null ? TokenStore.open(path, tokenFormat)
                    : TokenStore.open(path, tokenFormat, DType.of(dtype));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
