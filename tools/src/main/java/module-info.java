// SPDX-License-Identifier: Apache-2.0
/** The command {@code penstock}, and what it is made of: tokenizing and converting. */
module io.penstock.tools {
    requires transitive io.penstock;
    requires transitive io.penstock.pictures;
    requires transitive io.penstock.formats;
    requires transitive io.penstock.media;
    requires transitive io.penstock.remote;
    requires transitive io.penstock.diagnosis;
    requires static jdk.jfr;
    requires info.picocli;
    requires static jtokkit;
    requires static org.jspecify;

    exports io.penstock.chat;
    exports io.penstock.convert;
    exports io.penstock.tokenize;

    opens io.penstock.cli to info.picocli;
}
