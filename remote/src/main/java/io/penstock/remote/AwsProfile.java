// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the environment and AWS's two configuration files say: {@code ~/.aws/config} and {@code ~/.aws/credentials}, or
 * the files that {@code AWS_CONFIG_FILE} and {@code AWS_SHARED_CREDENTIALS_FILE} name, in the profile that
 * {@code AWS_PROFILE} names or the profile {@code default}.
 *
 * @param environment the environment's variables
 * @param name the profile
 * @param values what the files say of it; nested settings are left out
 */
record AwsProfile(Map<String, String> environment, String name, Map<String, String> values) {

    private static final String DEFAULT = "default";

    /**
     * Reads the files, which may be missing.
     *
     * @throws IOException if one cannot be read, or neither has a profile that was named
     */
    static AwsProfile read(Map<String, String> environment) throws IOException {
        String named = environment.get("AWS_PROFILE");
        String name = named == null || named.isEmpty() ? DEFAULT : named;
        Path home = RemoteSettings.home(environment).orElse(Path.of("/")).resolve(".aws");
        Path config = file(environment, "AWS_CONFIG_FILE", home.resolve("config"));
        Path credentials = file(environment, "AWS_SHARED_CREDENTIALS_FILE", home.resolve("credentials"));
        Map<String, String> values = new HashMap<>();
        boolean found = add(config, name.equals(DEFAULT) ? name : "profile " + name, values);
        found |= add(credentials, name, values);
        if (!found && !name.equals(DEFAULT)) {
            throw new IOException("AWS_PROFILE is '" + name + "': neither " + config + " nor " + credentials
                    + " has this profile");
        }
        return new AwsProfile(environment, name, Map.copyOf(values));
    }

    private static Path file(Map<String, String> environment, String variable, Path missing) {
        String file = environment.get(variable);
        return file == null || file.isEmpty() ? missing : Path.of(file);
    }

    /** Adds the settings of one section; returns whether the file has it. */
    private static boolean add(Path file, String section, Map<String, String> values) throws IOException {
        String text;
        try {
            text = new String(RegularFile.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (NoSuchFileException _) {
            return false;
        } catch (AccessDeniedException _) {
            throw new AccessDeniedException(file.toString(), null, "permission denied");
        }
        boolean found = false;
        boolean inside = false;
        for (String line : text.lines().toList()) {
            String plain = line.strip();
            int equals = plain.indexOf('=');
            if (plain.startsWith("[")) {
                inside = plain.replaceAll("[\\[\\]]", "").strip().replaceAll("\\s+", " ").equals(section);
                found |= inside;
            } else if (inside && equals > 0 && !plain.startsWith("#") && !plain.startsWith(";")
                    && !Character.isWhitespace(line.charAt(0))) {
                values.put(plain.substring(0, equals).strip().toLowerCase(Locale.ROOT),
                        plain.substring(equals + 1).strip());
            }
        }
        return found;
    }

    /** A setting: the first variable that is set, otherwise the files'. */
    Optional<String> value(String key, String... variables) {
        for (String variable : variables) {
            String value = environment.get(variable);
            if (value != null && !value.isEmpty()) {
                return Optional.of(value);
            }
        }
        return Optional.ofNullable(values.get(key));
    }

    /** The keys of the environment, otherwise of the files; never half of each. */
    Optional<S3Credentials> credentials() {
        return keys(environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY"),
                environment.get("AWS_SESSION_TOKEN"))
                .or(() -> keys(values.get("aws_access_key_id"), values.get("aws_secret_access_key"),
                        values.get("aws_session_token")));
    }

    private static Optional<S3Credentials> keys(@Nullable String id, @Nullable String secret, @Nullable String token) {
        return id == null || id.isEmpty() || secret == null || secret.isEmpty() ? Optional.empty()
                : Optional.of(new S3Credentials(id, secret, token == null || token.isEmpty() ? null : token, null));
    }
}
