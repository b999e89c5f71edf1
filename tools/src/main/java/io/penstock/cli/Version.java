// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints: of this program, and of the Java that runs it. */
final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
        String version = Version.class.getPackage().getImplementationVersion();
        return new String[] {"penstock " + (version == null ? "(not packaged)" : version) + " on Java "
                + Runtime.version() + ", " + System.getProperty("os.name") + " " + System.getProperty("os.arch")};
    }
}
