// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

class ShellTextTest {

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aShellReadsAQuotedWordAsItWas() throws Exception {
        for (String word : List.of("out", "/data/my corpus", "it's", "a$HOME", "~", "a;b", "", "s3://b/{0..9}.tar", "*",
                "a\"b", "a\nb")) {
            Process shell = new ProcessBuilder("sh", "-c", "printf %s " + ShellText.quoted(word)).start();
            assertEquals(word, new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            assertEquals(0, shell.waitFor());
        }
        assertEquals("/data/a-1.npy", ShellText.quoted("/data/a-1.npy"));
    }
}
