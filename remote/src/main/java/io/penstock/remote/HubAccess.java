// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the Hugging Face hub is, and who asks, by the variables and files of its own libraries.
 *
 * @param endpoint the hub, without a slash at the end
 * @param authorization the header {@code Authorization} of requests to it; null for public data
 */
record HubAccess(String endpoint, @Nullable String authorization) {

    private static final String HUB = "https://huggingface.co";

    /**
     * Finds the endpoint in {@code HF_ENDPOINT}, and the token in {@code HF_TOKEN} or in the file that
     * {@code HF_TOKEN_PATH} names, by default {@code token} in {@code HF_HOME}, which is {@code huggingface} in the
     * user's cache folder.
     *
     * @throws IOException if the file is there and cannot be read
     */
    static HubAccess of(Map<String, String> environment) throws IOException {
        String endpoint = value(environment, "HF_ENDPOINT", HUB).replaceFirst("/+$", "");
        UriText.endpoint("HF_ENDPOINT", endpoint, HUB);
        String token = value(environment, "HF_TOKEN", "");
        if (token.isEmpty()) {
            String caches = value(environment, "XDG_CACHE_HOME", RemoteSettings.home(environment)
                    .orElse(Path.of("/")).resolve(".cache").toString());
            String home = value(environment, "HF_HOME", caches + "/huggingface");
            token = read(Path.of(value(environment, "HF_TOKEN_PATH", home + "/token")));
        }
        return new HubAccess(endpoint, token.isEmpty() ? null : "Bearer " + token);
    }

    /** Tells whether it is the public hub. */
    boolean isUsual() {
        return endpoint.equalsIgnoreCase(HUB);
    }

    private static String value(Map<String, String> environment, String name, String missing) {
        String value = environment.get(name);
        return value == null || value.isBlank() ? missing : value.strip();
    }

    private static String read(Path file) throws IOException {
        try {
            return new String(RegularFile.readAllBytes(file), StandardCharsets.UTF_8).strip();
        } catch (NoSuchFileException _) {
            return "";
        }
    }

    /** Returns a text without the token. */
    @Override
    public String toString() {
        return "HubAccess[" + endpoint + "]";
    }
}
