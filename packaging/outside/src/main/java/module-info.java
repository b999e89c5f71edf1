// SPDX-License-Identifier: Apache-2.0
module org.example.outside {
    requires io.penstock;
    requires io.penstock.diagnosis;
}
