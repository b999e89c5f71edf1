// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import io.penstock.remote.RemoteSettings.Access;
import io.penstock.testing.JavaCommand;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RemoteSettingsTest {

    @Test
    void theEnvironmentSetsTheCacheAndTheAccess() {
        RemoteSettings settings = RemoteSettings.of(Map.of("PENSTOCK_CACHE", "/x", "PENSTOCK_CACHE_SIZE", "2G",
                "PENSTOCK_BLOCK_SIZE", "64K", "PENSTOCK_OFFLINE", "1"));
        assertEquals(Path.of("/x"), settings.cacheFolder());
        assertEquals(2L << 30, settings.cacheBytes());
        assertEquals(1 << 16, settings.blockBytes());
        assertEquals(Access.OFFLINE, settings.access());
    }

    @Test
    void anEmptyEnvironmentIsOnlineWithACacheOfTheUser() {
        RemoteSettings settings = RemoteSettings.of(Map.of("PENSTOCK_OFFLINE", "", "XDG_CACHE_HOME", "/caches"));
        assertEquals(Path.of("/caches/penstock"), settings.cacheFolder());
        assertEquals(Access.ONLINE, settings.access());
        assertEquals(0, settings.cacheBytes());
        assertTrue(RemoteSettings.of(Map.of()).cacheFolder().endsWith(Path.of(".cache/penstock")));
    }

    @Test
    void hostsHaveTheirOwnAuthorizationWhichIsNotShown() {
        RemoteSettings settings = RemoteSettings.of(Map.of("PENSTOCK_HTTP_AUTHORIZATION", """
                example.org Bearer abc
                localhost:8000   Basic eA==
                """));
        assertEquals(Map.of("example.org", "Bearer abc", "localhost:8000", "Basic eA=="), settings.authorization());
        assertFalse(settings.toString().contains("abc"), settings.toString());
    }

    @Test
    void aHostThatIsThereTwiceIsNamedWithoutItsAuthorization() {
        String message = assertThrows(IllegalArgumentException.class, () -> RemoteSettings.of(Map.of(
                "PENSTOCK_HTTP_AUTHORIZATION", "example.org Bearer abc\nexample.org Bearer def"))).getMessage();
        assertTrue(message.startsWith("PENSTOCK_HTTP_AUTHORIZATION: found the host 'example.org' twice"), message);
        assertFalse(message.contains("abc") || message.contains("def"), message);
    }

    @Test
    void wrongValuesAreNamed() {
        Map.of("PENSTOCK_CACHE_SIZE", "many", "PENSTOCK_BLOCK_SIZE", "9G", "PENSTOCK_OFFLINE", "yes",
                "PENSTOCK_HTTP_AUTHORIZATION", "host").forEach((name, value) -> {
                    String message = assertThrows(IllegalArgumentException.class,
                            () -> RemoteSettings.of(Map.of(name, value))).getMessage();
                    assertTrue(message.startsWith(name + ": "), message);
                });
    }

    /** Locates a file twice, with the settings of the environment, and says what that throws. */
    public static final class Locating {

        public static void main(String[] arguments) {
            for (int i = 0; i < 2; i++) {
                try {
                    System.out.println(Location.of(URI.create(arguments[0])));
                } catch (Throwable t) {
                    System.out.println(t);
                }
            }
        }
    }

    @Test
    void aWrongValueIsAnErrorWheneverAFileIsLocated() throws Exception {
        List<String> command = JavaCommand.of();
        command.addAll(List.of(Locating.class.getName(), "s3://bucket/key"));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("PENSTOCK_OFFLINE", "yes");
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals("java.lang.IllegalArgumentException: PENSTOCK_OFFLINE: found 'yes', expected 0 or 1\n".repeat(2),
                said);
        assertEquals(0, process.waitFor());
    }
}
