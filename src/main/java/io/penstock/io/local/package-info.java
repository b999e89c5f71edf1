// SPDX-License-Identifier: Apache-2.0
/**
 * Local files before they are read: what is opened, what is refused or passed over by its name, and where a file is
 * while its writer moves it.
 */
@NullMarked
package io.penstock.io.local;

import org.jspecify.annotations.NullMarked;
